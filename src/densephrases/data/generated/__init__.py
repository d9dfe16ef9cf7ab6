"""Files of generated questions: candidate answers, source passages, questions without passages."""
