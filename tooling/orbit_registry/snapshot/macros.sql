-- The views and macros of the snapshot: they need nothing but the file, so that any DuckDB shell, 1.4 to 2.0, runs them.
-- No lambdas (their syntax changed), `->>` in brackets (it bound weaker than `=`), parameters never share a bare name with a column, and a regular expression is
-- tried only on the few globs whose anchor the path has: DuckDB compiles it anew for each row. No `epoch(now())`, which
-- would load an extension from the network where it is not built in, as in a browser.

-- Each record's votes as log2 of the sum of 2^((t - 2020-01-01) / half-life): the order is the same at any time, and no
-- half-life overflows. At the half-life of the file the key is the stored one, which the push index has too; at another
-- it is worked out here. The sum runs over a sorted list, because a parallel sum differs from run to run.
CREATE MACRO vote_scores(half_life_days) AS TABLE
WITH dated AS (
    SELECT
        v.record_id, v.voter_model, v.task_id, v.voted_at,
        CASE
            WHEN half_life_days > 0 THEN (epoch(v.voted_at) - 1577836800) / 86400.0 / half_life_days
            ELSE 0
        END AS exponent
    FROM votes AS v
), summed AS (
    SELECT
        d.record_id,
        count(*) AS votes,
        max(d.voted_at) AS last_voted_at,
        max(d.exponent) AS top,
        list(d.exponent ORDER BY d.voted_at, d.voter_model, d.task_id) AS exponents
    FROM dated AS d
    GROUP BY d.record_id
), spread AS (
    SELECT s.record_id, unnest(s.exponents) - s.top AS below, generate_subscripts(s.exponents, 1) AS place
    FROM summed AS s
), sums AS (
    SELECT p.record_id, list_sum(list(pow(2.0, p.below) ORDER BY p.place)) AS total
    FROM spread AS p
    GROUP BY p.record_id
)
SELECT
    s.record_id,
    s.votes,
    CASE
        WHEN half_life_days > 0 THEN pow(
            2.0,
            least(1000, s.top + log2(t.total) - (epoch_ms(now()) / 1000.0 - 1577836800) / 86400.0 / half_life_days)
        )
        ELSE s.votes::DOUBLE
    END AS score,
    coalesce(k.rank_key, s.top + log2(t.total)) AS rank_key,
    s.last_voted_at
FROM summed AS s
JOIN sums AS t ON t.record_id = s.record_id
LEFT JOIN vote_keys AS k ON k.record_id = s.record_id AND k.half_life = half_life_days;

CREATE VIEW vote_ranking AS
SELECT
    row_number() OVER (ORDER BY s.rank_key DESC, s.record_id) AS rank,
    s.record_id AS id,
    r.kind,
    r.phase,
    r.title,
    s.votes,
    s.score,
    s.rank_key,
    s.last_voted_at
FROM vote_scores((SELECT m.value::DOUBLE FROM meta AS m WHERE m.name = 'half_life_days')) AS s
JOIN records AS r ON r.id = s.record_id;

CREATE VIEW vote_history AS
SELECT
    s.id,
    s.title,
    date_trunc('month', v.voted_at)::DATE AS month,
    count(*) AS month_votes,
    s.votes,
    s.score,
    s.last_voted_at
FROM votes AS v
JOIN vote_ranking AS s ON s.id = v.record_id
GROUP BY s.id, s.title, date_trunc('month', v.voted_at), s.votes, s.score, s.last_voted_at
ORDER BY s.id, month;

-- What became of each record in the sessions that were shown it, apart from its votes: the signals and
-- the score of `orbit stats --effect`, but for reverts, which git knows. A record counts from when it first came due.
CREATE VIEW outcome_scores AS
WITH said AS MATERIALIZED (
    SELECT min(e.rowid) AS n, split_part(any_value(e.session), '.', 1) AS session, any_value(e.type) AS type, e.data
    FROM events AS e WHERE e.session IS NOT NULL AND NOT starts_with(e.session, 'trial-') GROUP BY e.data
), named AS (
    SELECT n, session, unnest(data->>'$.hits[*]') AS record_id, FALSE AS withheld, data->>'$.query[*]' AS paths
    FROM said WHERE type = 'retrieval'
    UNION ALL
    SELECT n, session, unnest(data->>'$.withheld[*]'), TRUE, data->>'$.query[*]' FROM said WHERE type = 'retrieval'
), due AS (
    SELECT session, record_id, min(n) AS n, arg_min(paths, n) AS paths
    FROM named GROUP BY session, record_id HAVING NOT arg_min(withheld, 2 * n + withheld::INTEGER)
), runs AS (
    SELECT
        n, session, (data->>'$.command') AS command, coalesce((data->>'$.tests') = 'true', FALSE) AS tests,
        coalesce((data->>'$.result') = 'failed', FALSE) AS failed
    FROM said WHERE (data->>'$.command') IS NOT NULL
), passes AS (
    SELECT *, NOT failed AND NOT coalesce(lead(failed) OVER w, FALSE) AS passed
    FROM runs WINDOW w AS (PARTITION BY session, command ORDER BY n)
), followed AS (
    SELECT
        *,
        max(CASE WHEN failed THEN n END) OVER w AS last_failed,
        max(CASE WHEN passed THEN n END) OVER w AS last_passed
    FROM passes
    WINDOW w AS (PARTITION BY session, command ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), greens AS (
    SELECT session, n FROM followed WHERE passed AND tests AND last_failed > coalesce(last_passed, -1)
), signals AS (
    SELECT
        d.session, d.record_id,
        coalesce(bool_or(s.type = 'opened' AND list_contains((s.data->>'$.ids[*]'), d.record_id)), FALSE) AS opened,
        count(g.n) > 0 AS turned_green,
        coalesce(
            bool_or(
                s.type = 'retrieval' AND (s.data->>'$.writes') = 'true' AND list_has_any((s.data->>'$.query[*]'), d.paths)
            ),
            FALSE
        ) AS edited,
        coalesce(bool_or(list_contains((s.data->>'$.failed[*]'), d.record_id)), FALSE) AS failed_again
    FROM due AS d
    LEFT JOIN said AS s ON s.session = d.session AND s.n > d.n
    LEFT JOIN greens AS g ON g.n = s.n
    GROUP BY d.session, d.record_id
)
SELECT
    record_id AS id,
    count(*) AS sessions,
    count(*) FILTER (opened) AS opened,
    count(*) FILTER (turned_green) AS turned_green,
    count(*) FILTER (edited) AS edited,
    count(*) FILTER (failed_again) AS failed_again,
    sum(greatest(-1, least(1,
        opened::INTEGER + turned_green::INTEGER + 0.25 * edited::INTEGER - failed_again::INTEGER
    )))::DOUBLE / (count(*) + 4) AS score
FROM signals GROUP BY record_id
ORDER BY score DESC, id;

CREATE VIEW system_knowledge AS
SELECT
    r.id, r.kind, r.title, r.status, r.summary, r.body,
    (SELECT string_agg(t.tag, ', ' ORDER BY t.tag) FROM tags AS t WHERE t.record_id = r.id AND t.axis = 'tag') AS tags,
    (
        SELECT string_agg(g.pattern, ', ' ORDER BY g.position)
        FROM (SELECT DISTINCT s.record_id, s.position, s.pattern FROM scope_globs AS s) AS g
        WHERE g.record_id = r.id
    ) AS globs,
    coalesce(v.votes, 0) AS votes,
    coalesce(v.score, 0) AS score,
    coalesce(r.project, json_extract_string(r.data, '$.trigger.project')) AS project,
    coalesce(
        CASE json_extract_string(r.data, '$.trigger.type')
            WHEN 'loop' THEN json_extract_string(r.data, '$.trigger.id')
        END,
        (
            SELECT min(json_extract_string(t.data, '$.trigger.id'))
            FROM links AS l
            JOIN records AS t ON t.id = l.target_id
            WHERE l.record_id = r.id AND l.rel = 'derived_from'
                AND json_extract_string(t.data, '$.trigger.type') = 'loop'
        )
    ) AS loop_id,
    coalesce(r.source_path, json_extract_string(r.data, '$.provenance.source'), r.author) AS source,
    r.created_at,
    r.updated_at,
    r.path
FROM records AS r LEFT JOIN vote_ranking AS v ON v.id = r.id
WHERE r.phase = 'live' AND r.searched AND NOT r.inbox
UNION ALL
SELECT
    s.path, 'skill', s.title, 'active', s.description, s.body,
    NULL, NULL, 0, 0, NULL, NULL, s.path, NULL, NULL, s.path
FROM skills AS s;

-- Where links and citations with a fragment lead: the chunk under that heading, or with those lines (`#L10`).
CREATE VIEW cited_chunks AS
WITH said AS (
    SELECT l.record_id, NULL AS path, NULL AS line, l.target, l.target_id FROM links AS l
    UNION ALL SELECT NULL, c.path, c.line, c.target, c.target_id FROM citations AS c
), asked AS (
    SELECT s.*, split_part(s.target, '#', 2) AS fragment FROM said AS s WHERE contains(s.target, '#')
)
SELECT a.record_id, a.path, a.line, a.target, a.target_id, h.code, h.breadcrumb, h.first_line, h.last_line
FROM asked AS a
JOIN chunks AS h ON h.record_id = a.target_id
LEFT JOIN anchors AS n ON n.record_id = h.record_id AND n.code = h.code AND n.anchor = lower(a.fragment)
WHERE n.anchor IS NOT NULL
    OR TRY_CAST(regexp_extract(a.fragment, '^L([0-9]+)', 1) AS INTEGER) BETWEEN h.first_line AND h.last_line
QUALIFY row_number() OVER (PARTITION BY a.record_id, a.path, a.line, a.target ORDER BY h.position) = 1
ORDER BY a.record_id, a.path, a.line, a.target;

-- Every record that applies to a path, whatever its phase, with the first glob that matches, else what the file
-- imports or cites; where the project is given, none of another. A file that a scope excludes may still cite it.
CREATE MACRO scope_match(path, project := NULL) AS TABLE
WITH asked AS MATERIALIZED (
    SELECT
        q.name,
        q.parts,
        len(q.parts) AS depth,
        q.parts[-1] AS basename,
        CASE WHEN contains(q.parts[-1], '.') THEN string_split(q.parts[-1], '.')[-1] END AS extension
    FROM (SELECT path AS name, string_split(path, '/') AS parts) AS q
    WHERE length(q.name) <= 4096
), steps AS (
    SELECT a.parts, unnest(generate_series(1, a.depth - 1)) AS step FROM asked AS a
), places AS MATERIALIZED (
    SELECT 'path' AS kind, a.name AS text FROM asked AS a
    UNION SELECT 'basename', a.basename FROM asked AS a
    UNION SELECT 'directory', '' FROM asked AS a
    UNION SELECT 'directory', array_to_string(s.parts[1:s.step], '/') FROM steps AS s
    UNION SELECT 'segment', s.parts[s.step] FROM steps AS s
), candidates AS MATERIALIZED (
    SELECT g.record_id, g.position, g.pattern, g.exclude, g.regex, a.name
    FROM scope_globs AS g
    JOIN places AS p ON g.anchor_kind = p.kind AND g.anchor = p.text
    CROSS JOIN asked AS a
    WHERE (g.extension IS NULL OR g.extension = a.extension) AND (g.depth IS NULL OR g.depth = a.depth)
), hits AS MATERIALIZED (
    SELECT c.record_id, c.position, c.pattern, c.exclude
    FROM candidates AS c
    WHERE c.regex IS NULL OR regexp_full_match(c.name, c.regex)
    UNION ALL
    SELECT t.record_id, 1000000, 'uses ' || t.tag, false
    FROM imports AS i
    JOIN tags AS t ON t.axis = 'uses' AND t.tag = i.package
    CROSS JOIN asked AS a
    WHERE i.path = a.name
), covering AS (
    SELECT h.record_id, arg_min(h.pattern, h.position) AS pattern, 1 AS step
    FROM hits AS h
    GROUP BY h.record_id
    HAVING NOT bool_or(h.exclude)
    UNION ALL
    SELECT c.record_id, 'cites ' || coalesce(c.cited_id, c.record_id), 2
    FROM code_citations AS c
    CROSS JOIN asked AS a
    WHERE c.path = a.name
)
SELECT r.id, r.kind, r.phase, r.title, m.pattern
FROM (
    SELECT v.record_id, arg_min(v.pattern, v.step) AS pattern FROM covering AS v GROUP BY v.record_id
) AS m
JOIN records AS r ON r.id = m.record_id
WHERE nullif(project, '') IS NULL OR r.project IS NULL OR r.project = project
ORDER BY r.id;

-- Live records in the order in which they are pushed: decayed votes, priority, last change, id.
CREATE MACRO ranked(tag := NULL, half_life := NULL, project := NULL) AS TABLE
SELECT
    row_number() OVER (
        ORDER BY s.rank_key DESC NULLS LAST, r.priority DESC, r.updated_at DESC NULLS LAST, r.id
    ) AS rank,
    r.id, r.kind, r.title, coalesce(s.votes, 0) AS votes, coalesce(s.score, 0) AS score, r.priority, r.updated_at
FROM records AS r
LEFT JOIN vote_scores(
    coalesce(half_life::DOUBLE, (SELECT m.value::DOUBLE FROM meta AS m WHERE m.name = 'half_life_days'))
) AS s ON s.record_id = r.id
WHERE r.phase = 'live' AND r.pushed AND NOT r.inbox
    AND (nullif(project, '') IS NULL OR r.project IS NULL OR r.project = project)
    AND (tag IS NULL OR r.id IN (SELECT t.record_id FROM tags AS t WHERE t.axis = 'tag' AND t.tag = tag))
ORDER BY rank;

-- The records that an id can mean: by id, else by legacy id, else by the last part of a legacy id.
CREATE MACRO resolve_id(any_id) AS TABLE
WITH named AS (
    SELECT 1 AS step, 'id' AS matched_by, r.id AS record_id FROM records AS r WHERE r.id = any_id
    UNION SELECT 2, 'legacy id', l.record_id FROM legacy_ids AS l WHERE l.legacy_id = any_id
    UNION SELECT 3, 'end of a legacy id', l.record_id FROM legacy_ids AS l
    WHERE NOT contains(any_id, '/') AND string_split(l.legacy_id, '/')[-1] = any_id
)
SELECT r.id, r.kind, r.phase, r.title, n.matched_by
FROM named AS n JOIN records AS r ON r.id = n.record_id
WHERE n.step = (SELECT min(f.step) FROM named AS f)
ORDER BY r.id;
