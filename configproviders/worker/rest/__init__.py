"""The REST API: Kafka Connect's, served by Starlette. :func:`~.app.create_app` makes it."""
