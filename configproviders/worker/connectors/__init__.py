"""The connectors that ship: pipelines of Spark, and thin ones on top that speak of one system."""
