"""What must hold of a topology as a whole, however it was made; one module per part of the model."""
