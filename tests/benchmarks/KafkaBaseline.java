// The same work with Kafka's own classes, for bench.py.
//   transform (memory|files) CONFIG SECONDS CALLS   warms up, then answers each line of input with
//                                                   the CPU microseconds of one call, over CALLS
//   resolve FILE                                    resolves one properties file and prints it

import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigTransformer;
import org.apache.kafka.common.config.provider.ConfigProvider;
import org.apache.kafka.common.config.provider.FileConfigProvider;

public class KafkaBaseline {
    public static void main(String[] args) throws Exception {
        if (args[0].equals("resolve")) {
            resolve(args[1]);
        } else {
            transform(args);
        }
    }

    static void resolve(String file) throws IOException {
        try (FileConfigProvider provider = new FileConfigProvider()) {
            provider.configure(Map.of());
            Properties resolved = new Properties();
            resolved.putAll(new ConfigTransformer(Map.of("file", provider)).transform(read(file)).data());
            resolved.store(System.out, null);
        }
    }

    static void transform(String[] args) throws IOException {
        Map<String, String> config = read(args[2]);
        FileConfigProvider files = new FileConfigProvider();
        files.configure(Map.of());
        ConfigProvider provider = args[1].equals("files") ? files : new Memory(files);
        ConfigTransformer transformer = new ConfigTransformer(Map.of("file", provider));
        long warm = System.nanoTime() + (long) (Double.parseDouble(args[3]) * 1e9);
        while (System.nanoTime() < warm) {
            transformer.transform(new HashMap<>(config));
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int calls = Integer.parseInt(args[4]);
        BufferedReader rounds = new BufferedReader(new InputStreamReader(System.in));
        while (rounds.readLine() != null) {
            long start = threads.getCurrentThreadCpuTime();
            for (int call = 0; call < calls; call++) {
                transformer.transform(new HashMap<>(config));
            }
            System.out.println((threads.getCurrentThreadCpuTime() - start) / 1e3 / calls);
        }
    }

    static Map<String, String> read(String file) throws IOException {
        Properties properties = new Properties();
        try (FileReader reader = new FileReader(file)) {
            properties.load(reader);
        }
        Map<String, String> map = new HashMap<>();
        properties.stringPropertyNames().forEach(name -> map.put(name, properties.getProperty(name)));
        return map;
    }

    /** Answers from maps that were filled from the same files once. */
    static class Memory implements ConfigProvider {
        private final Map<String, Map<String, String>> paths = new HashMap<>();
        private final FileConfigProvider files;

        Memory(FileConfigProvider files) {
            this.files = files;
        }

        public ConfigData get(String path) {
            return new ConfigData(new HashMap<>(paths.computeIfAbsent(path, p -> files.get(p).data())));
        }

        public ConfigData get(String path, Set<String> keys) {
            Map<String, String> all = paths.computeIfAbsent(path, p -> files.get(p).data());
            Map<String, String> found = new HashMap<>();
            for (String key : keys) {
                String value = all.get(key);
                if (value != null) {
                    found.put(key, value);
                }
            }
            return new ConfigData(found);
        }

        public void configure(Map<String, ?> configs) {}

        public void close() {}
    }
}
