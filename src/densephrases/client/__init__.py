"""The HTTP client of a service, synchronous and asynchronous."""
