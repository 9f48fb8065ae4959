-- The views that questions are asked of. DuckDB and Spark read this text.

-- A fork has the first commit of another repository: of those with one first commit, the first that was seen counts. Two
-- folders of one repository are two projects; a member without a folder is the whole repository.
CREATE TEMPORARY VIEW originals AS
SELECT
    m.repository, m.first_commit, m.folder, CASE WHEN m.origin <> '' THEN m.origin ELSE m.address END AS place,
    ROW_NUMBER() OVER (
        PARTITION BY m.first_commit ORDER BY CASE WHEN m.is_fork THEN 1 ELSE 0 END, m.first_seen_at, m.repository
    ) AS turn
FROM lake_repositories AS m
WHERE m.first_commit <> '';

CREATE TEMPORARY VIEW copies AS
SELECT m.repository, MIN_BY(o.repository, o.turn) AS copy_of
FROM originals AS m
JOIN originals AS o ON o.first_commit = m.first_commit AND o.turn < m.turn
WHERE o.folder = m.folder OR o.place <> m.place AND (o.folder = '' OR m.folder = '')
GROUP BY m.repository;

CREATE TEMPORARY VIEW repositories AS
SELECT
    m.repository, m.commit, m.committed_at, m.pushed_at, m.records, m.extends, m.schema_version, m.address, m.folder,
    m.first_seen_at, m.last_seen_at, m.reader, m.orbit_version, m.first_commit, m.is_fork, m.is_archived, m.is_expected,
    m.renamed_from, m.error, COALESCE(m.left_out, '') AS left_out, COALESCE(m.has_code, false) AS has_code,
    COALESCE(c.copy_of, '') AS copy_of, c.copy_of IS NOT NULL AS is_copy
FROM lake_repositories AS m
LEFT JOIN copies AS c ON c.repository = m.repository;

CREATE TEMPORARY VIEW records AS
SELECT
    r.repository, r.record_id AS id, r.uid, r.kind, r.title, r.sentence, r.status, r.phase, r.project, r.feature,
    r.category, r.date, r.summary, r.body, r.priority, r.confidence, r.path, r.source_path, r.url, r.author,
    r.author_role, r.author_model, r.created_at, r.updated_at, r.title_key, r.text_key, r.negated, r.data, m.is_copy
FROM lake_records AS r
JOIN repositories AS m ON m.repository = r.repository;

-- What words count in a record, as the core's search counts them: ` polici:4 use:1 `. `forms` has the words whose term is
-- another one (` policies:polici `), `length` is the sum of the counts.
CREATE TEMPORARY VIEW texts AS
SELECT r.repository, r.record_id, r.phase, r.terms, r.forms, r."length", m.is_copy
FROM lake_records AS r
JOIN repositories AS m ON m.repository = r.repository;

CREATE TEMPORARY VIEW scopes AS
SELECT
    f.repository, f.record_id, f.s.axis, f.s."value", f.s."position", f.s."exclude", f.s.anchor_kind, f.s.anchor,
    f.s.extension, f.s."depth", f.s.regex
FROM (SELECT r.repository, r.record_id, UNNEST(r.scopes) AS s FROM lake_records AS r) AS f;

CREATE TEMPORARY VIEW links AS
SELECT f.repository, f.record_id, f.l.rel, f.l.target, f.l.target_id, f.l.derived, f.l.reason
FROM (SELECT r.repository, r.record_id, UNNEST(r.links) AS l FROM lake_records AS r) AS f;

CREATE TEMPORARY VIEW votes AS
SELECT f.repository, f.record_id, f.v.voter_model, f.v.task_id, f.v.voted_at
FROM (SELECT r.repository, r.record_id, UNNEST(r.votes) AS v FROM lake_records AS r) AS f;

CREATE TEMPORARY VIEW rejected AS
SELECT f.repository, f.record_id, f.o."position", f.o."option", f.o.reason, f.o.option_key
FROM (SELECT r.repository, r.record_id, UNNEST(r.rejected) AS o FROM lake_records AS r) AS f;
