"""What a program may do on the machine it runs on: folders, files in them, and the rules of a permission."""
