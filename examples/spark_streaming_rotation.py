"""A stream writes to a database whose password changes three times meanwhile; no row is lost.

The password changes in the database first and in the file that the stream has it from later, as in
any rotation. A batch that is refused in between looks for the new one, and is done once more. The
database is embedded Derby.
"""

from __future__ import annotations

import secrets
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from configproviders.spark import LiveConfigs, retrying

ROTATIONS = 3
CONFS = {
    "spark.master": "local[2]",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


class Database:
    """Derby with a user ``stream``."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        """Create it; once started anew, it asks for passwords."""
        self.url = f"jdbc:derby:{place}/orders"
        jvm: Any = spark.sparkContext._jvm
        self._java: Any = jvm.java
        self._java.lang.System.setProperty("derby.stream.error.file", f"{place}/derby.log")
        owner = secrets.token_urlsafe()
        connection = self._connect("owner", owner, ";create=true")
        self._call(connection, "CREATE_USER", "owner", owner)
        self._call(connection, "CREATE_USER", "stream", secrets.token_urlsafe())
        with suppress(Py4JJavaError):  # Derby reports a shutdown as an error.
            self._connect("owner", owner, ";shutdown=true")
        self._owner = self._connect("owner", owner)

    def change_password(self) -> str:
        """Change that of the stream; return the new one."""
        password = secrets.token_urlsafe()
        self._call(self._owner, "RESET_PASSWORD", "stream", password)
        return password

    def _connect(self, user: str, password: str, more: str = "") -> Any:
        return self._java.sql.DriverManager.getConnection(f"{self.url}{more}", user, password)

    def _call(self, connection: Any, procedure: str, *arguments: str) -> None:
        call = connection.prepareCall(f"CALL SYSCS_UTIL.SYSCS_{procedure}(?, ?)")
        for number, argument in enumerate(arguments, 1):
            call.setString(number, argument)
        call.execute()


def main() -> None:
    """Feed the stream, and rotate while it runs."""
    with (
        tempfile.TemporaryDirectory() as directory,
        LiveConfigs(CONFS) as live,
        live.create_session(SparkSession.builder) as spark,
    ):
        place = Path(directory)
        secret = place / "stream.properties"
        (place / "in").mkdir()
        database = Database(spark, place)
        put(secret, f"password={database.change_password()}\n")
        reference = f"${{file:{secret}:password}}"
        options = live.options({"url": database.url, "user": "stream", "password": reference})
        logins: list[int] = []

        def write(rows: DataFrame, batch: int) -> None:
            """Write a table for each batch: a second try takes the place of the first."""
            logins.append(batch)
            writer = rows.write.format("jdbc").options(**options(), dbtable=f"batch_{batch}")
            writer.mode("overwrite").save()

        rows = spark.readStream.schema("id long").json(f"{place}/in")
        stream = rows.writeStream.option("checkpointLocation", f"{place}/checkpoint")
        query = stream.foreachBatch(retrying(write, options)).start()
        for number in range(ROTATIONS + 1):
            if number:
                password = database.change_password()
            put(place / "in" / f"{number}", f'{{"id": {number}}}\n')
            if number:
                while number not in logins:
                    time.sleep(0.05)
                time.sleep(1)  # The file is behind the database: the batch is refused meanwhile.
                put(secret, f"password={password}\n")
            query.processAllAvailable()
            print(f"batch {number}, tries: {logins.count(number)}")
        query.stop()
        read = spark.read.format("jdbc").options(**options())
        tables = [read.option("dbtable", f"batch_{batch}").load() for batch in set(logins)]
        print("written:", sorted(row.id for table in tables for row in table.collect()))


def put(file: Path, text: str) -> None:
    """Replace *file* whole: who reads it sees the old one or the new one."""
    spare = file.with_name("_new")
    spare.write_text(text)
    spare.replace(file)


if __name__ == "__main__":
    main()
