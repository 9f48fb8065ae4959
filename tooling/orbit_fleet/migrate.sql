-- The records of a lake of version 1: pushes in buckets, with manifests. $manifests are these; $records, $scopes, … read the files
-- of each table. Of several compactions of a bucket the newest counts.
CREATE VIEW manifests AS
SELECT * FROM (
    SELECT *, parse_dirname(filename) AS bucket, regexp_extract(parse_filename(filename), '^compaction\.([0-9]{6})\.json$', 1) AS compaction
    FROM read_json([$manifests], filename = true, columns = {
        repository: 'VARCHAR', "sequence": 'BIGINT', since: 'BIGINT', "commit": 'VARCHAR', committed_at: 'VARCHAR',
        pushed_at: 'VARCHAR', extends: 'VARCHAR', origin: 'VARCHAR', removed: 'BOOLEAN', files: 'VARCHAR[]',
        repositories: 'STRUCT(repository VARCHAR, "sequence" BIGINT, since BIGINT, "commit" VARCHAR, committed_at VARCHAR,
            pushed_at VARCHAR, extends VARCHAR, origin VARCHAR, removed BOOLEAN)[]'
    })
)
QUALIFY compaction = '' OR compaction = max(compaction) OVER (PARTITION BY bucket, compaction <> '');

-- The newest push of each repository.
CREATE VIEW heads AS
SELECT * FROM (
    SELECT repository, "sequence", since, "commit", committed_at, pushed_at, extends, origin, removed FROM manifests WHERE compaction = ''
    UNION ALL
    SELECT unnest(repositories, recursive := true) FROM manifests WHERE compaction <> ''
)
QUALIFY row_number() OVER (PARTITION BY repository ORDER BY "sequence" DESC) = 1 AND NOT coalesce(removed, false);

CREATE VIEW kept AS SELECT DISTINCT unnest(files) AS file FROM manifests;
CREATE MACRO in_lake(path) AS regexp_extract(path, '[a-z]+/bucket=[^/]+/[^/]+$');

-- The newest row of each record that was not removed.
CREATE VIEW newest AS
SELECT t.*
FROM $records AS t
JOIN kept AS k ON k.file = in_lake(t.filename)
JOIN heads AS h ON h.repository = t.repository AND t."sequence" BETWEEN h.since AND h."sequence"
QUALIFY row_number() OVER (PARTITION BY t.repository, t.record_id ORDER BY t."sequence" DESC) = 1 AND NOT t.removed;

-- The rows of the other tables, as one list for each record and table.
CREATE VIEW lists AS
SELECT 'scopes' AS part, t.repository, t.record_id, t."sequence", list(to_json(t)) AS entries FROM $scopes AS t
JOIN kept AS k ON k.file = in_lake(t.filename) GROUP BY ALL
UNION ALL
SELECT 'links', t.repository, t.record_id, t."sequence", list(to_json(t)) FROM $links AS t
JOIN kept AS k ON k.file = in_lake(t.filename) GROUP BY ALL
UNION ALL
SELECT 'votes', t.repository, t.record_id, t."sequence", list(to_json(t)) FROM $votes AS t
JOIN kept AS k ON k.file = in_lake(t.filename) GROUP BY ALL
UNION ALL
SELECT 'rejected', t.repository, t.record_id, t."sequence", list(to_json(t)) FROM $rejected AS t
JOIN kept AS k ON k.file = in_lake(t.filename) GROUP BY ALL;

CREATE VIEW migrated AS
SELECT
    n.repository, to_json(any_value(n)) AS record,
    to_json(map(list(l.part) FILTER (l.part IS NOT NULL), list(l.entries) FILTER (l.part IS NOT NULL))) AS parts
FROM newest AS n
LEFT JOIN lists AS l ON l.repository = n.repository AND l.record_id = n.record_id AND l."sequence" = n."sequence"
GROUP BY n.repository, n.record_id
ORDER BY n.repository, n.record_id;
