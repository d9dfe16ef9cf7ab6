"""`densephrases eval`: measures, changes nothing."""
