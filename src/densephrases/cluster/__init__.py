"""Building and serving on several machines with Ray. Nothing else imports Ray, and no vector passes through it."""
