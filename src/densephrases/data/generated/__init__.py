"""Generated questions on disk: candidate answers, files, passages they were made from."""
