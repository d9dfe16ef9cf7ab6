"""An index kept in step with folders: what has changed below them, and when."""
