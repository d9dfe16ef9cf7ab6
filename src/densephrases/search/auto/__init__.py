"""Answers in the form that each question asks for."""
