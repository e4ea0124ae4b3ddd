"""A worker that runs connectors as Spark jobs, by Kafka Connect's REST API."""
