"""Sessions, options, batches and streams that follow their secrets when these change."""
