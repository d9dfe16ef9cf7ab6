"""Relations of subjects: what is asked of them, and which answers state them."""
