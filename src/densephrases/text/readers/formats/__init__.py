"""File formats that are no plain text: tables, office documents, images. Nothing here reads HTML."""
