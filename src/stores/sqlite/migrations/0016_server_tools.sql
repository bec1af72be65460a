-- Two more counts of a usage: tokens that are written into a cache for an hour, and uses of tools that run at the provider.
-- Null for none. Most rows have none, and keep the form that commit hashes cover since migrations 0010 and 0011.
ALTER TABLE charges ADD COLUMN cache_write_1h INTEGER;
ALTER TABLE charges ADD COLUMN server_tool_uses INTEGER;
ALTER TABLE attempts ADD COLUMN cache_write_1h INTEGER;
ALTER TABLE attempts ADD COLUMN server_tool_uses INTEGER;
