-- The records that can be shown and never were.
SELECT id, title FROM records WHERE pushed AND id NOT IN (SELECT id FROM met WHERE shown > 0) ORDER BY id;
