"""How people meet L2T."""
