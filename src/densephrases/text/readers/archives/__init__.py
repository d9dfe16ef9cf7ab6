"""Files that hold many texts of other formats: books, mailboxes, archives of web pages."""
