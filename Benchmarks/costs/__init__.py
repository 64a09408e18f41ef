"""What things cost in figures that do not depend on the machine's mood: allocations, instructions, round trips, bytes."""
