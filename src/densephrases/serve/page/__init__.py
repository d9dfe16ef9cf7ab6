"""The page that browsers show."""
