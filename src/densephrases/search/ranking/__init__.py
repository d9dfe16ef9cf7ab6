"""The final ranking of a question's first phrases: what tells them apart, and a linear model over it."""
