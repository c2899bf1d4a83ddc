"""Links against gold: counts, rates with intervals, tests between systems, and a report of the errors."""
