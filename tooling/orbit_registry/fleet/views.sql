-- The views that questions are asked of: the newest state of each repository. DuckDB and Spark read this text.

CREATE TEMPORARY VIEW records AS
SELECT
    r.repository, r.record_id AS id, r.uid, r.kind, r.title, r.status, r.phase, r.project, r.feature, r.category,
    r.date, r.summary, r.body, r.priority, r.confidence, r.path, r.source_path, r.author, r.author_role,
    r.author_model, r.created_at, r.updated_at, r.title_key, r.text_key, r.negated, r.data
FROM lake_records AS r
JOIN lake_current AS c ON c.repository = r.repository AND c.record_id = r.record_id AND c.sequence = r.sequence;

CREATE TEMPORARY VIEW scopes AS
SELECT
    s.repository, s.record_id, s.axis, s.value, s.position, s."exclude", s.anchor_kind, s.anchor, s.extension, s.depth,
    s.regex
FROM lake_scopes AS s
JOIN lake_current AS c ON c.repository = s.repository AND c.record_id = s.record_id AND c.sequence = s.sequence;

CREATE TEMPORARY VIEW links AS
SELECT l.repository, l.record_id, l.rel, l.target, l.target_id, l.derived, l.reason
FROM lake_links AS l
JOIN lake_current AS c ON c.repository = l.repository AND c.record_id = l.record_id AND c.sequence = l.sequence;

CREATE TEMPORARY VIEW votes AS
SELECT v.repository, v.record_id, v.voter_model, v.task_id, v.voted_at
FROM lake_votes AS v
JOIN lake_current AS c ON c.repository = v.repository AND c.record_id = v.record_id AND c.sequence = v.sequence;

CREATE TEMPORARY VIEW rejected AS
SELECT o.repository, o.record_id, o.position, o.option, o.reason, o.option_key
FROM lake_rejected AS o
JOIN lake_current AS c ON c.repository = o.repository AND c.record_id = o.record_id AND c.sequence = o.sequence;

CREATE TEMPORARY VIEW repositories AS
SELECT h.repository, h.commit, h.committed_at, h.pushed_at, h.records, h.extends, h.schema_version
FROM lake_heads AS h;
