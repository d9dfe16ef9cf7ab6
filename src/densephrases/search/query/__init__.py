"""What is asked: questions that can be read, their form, and the documents they name."""
