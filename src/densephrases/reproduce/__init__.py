"""The paper's tables: plans of steps that call what trains and evaluates, and the figures of the paper beside ours."""
