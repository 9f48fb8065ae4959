-- title: Contradictions between repositories
-- answers: On which topics does one repository do what another one refuses?
WITH titles AS (
    SELECT
        title_key, SPLIT_PART(title_key, ' | ', 1) AS topic, SPLIT_PART(title_key, ' | ', 2) AS side,
        repository, id, title, phase, status, negated, COALESCE(sentence, '') AS quote, COALESCE(url, '') AS url
    FROM records
    WHERE kind IN ('adr', 'rule', 'learning') AND title_key IS NOT NULL AND NOT is_copy
), sides AS (
    SELECT
        CONCAT(topic, ' | ') AS subject, repository, id, title, quote, url, side,
        MIN(side) OVER (PARTITION BY topic) AS first_side,
        MIN(side) OVER (PARTITION BY topic, repository) AS own_first,
        MAX(side) OVER (PARTITION BY topic, repository) AS own_last
    FROM titles
    WHERE side <> '' AND phase = 'live' AND NOT negated
), sided AS (
    -- Of tabs over spaces, or of 10 backups and 12: those that take one side are against those that take another. Who takes
    -- several, such as phase 1 and phase 2, is against no one.
    SELECT subject, repository, id, title, quote, url, CASE WHEN side = first_side THEN 1 ELSE 0 END AS is_for
    FROM sides
    WHERE own_first = own_last
), positions AS (
    SELECT
        title_key AS subject, repository, id, title, quote, url,
        CASE WHEN phase = 'live' AND NOT negated THEN 1 ELSE 0 END AS is_for,
        CASE WHEN phase = 'live' AND negated OR status IN ('rejected', 'deprecated') AND NOT negated THEN 1 ELSE 0 END AS is_against
    FROM titles
    UNION ALL
    SELECT subject, repository, id, title, quote, url, is_for, 1 - is_for
    FROM sided
    UNION ALL
    SELECT o.option_key, o.repository, o.record_id, o.option, COALESCE(o.reason, ''), COALESCE(r.url, ''), 0, 1
    FROM rejected AS o
    JOIN records AS r ON r.repository = o.repository AND r.id = o.record_id
    WHERE r.phase = 'live' AND o.option_key IS NOT NULL AND NOT r.is_copy
    UNION ALL
    -- What one decision takes, such as Redis for sessions, another one may have rejected.
    SELECT
        CONCAT('name ', s.value), s.repository, s.record_id, COALESCE(o.option, r.title),
        COALESCE(o.reason, r.sentence, ''), COALESCE(r.url, ''),
        CASE WHEN s.axis = 'uses' THEN 1 ELSE 0 END, CASE WHEN s.axis = 'rejects' THEN 1 ELSE 0 END
    FROM scopes AS s
    JOIN records AS r ON r.repository = s.repository AND r.id = s.record_id
    LEFT JOIN rejected AS o
        ON o.repository = s.repository AND o.record_id = s.record_id AND o.position = s.position AND s.axis = 'rejects'
    WHERE s.axis IN ('uses', 'rejects') AND r.phase = 'live' AND NOT r.is_copy
), named AS (
    SELECT
        subject, repository, title, quote, url, is_for, is_against, CONCAT(repository, ' ', id, ' ', title) AS example
    FROM positions
    WHERE is_for = 1 OR is_against = 1
), topics AS (
    SELECT
        subject,
        MIN(CASE WHEN is_for = 1 THEN title END) AS topic,
        COUNT(DISTINCT CASE WHEN is_for = 1 THEN repository END) AS repositories_for,
        COUNT(DISTINCT CASE WHEN is_against = 1 THEN repository END) AS repositories_against,
        MIN(CASE WHEN is_for = 1 THEN example END) AS example_for,
        MIN(CASE WHEN is_against = 1 THEN example END) AS example_against
    FROM named
    GROUP BY subject
    HAVING MAX(is_for) = 1 AND MAX(is_against) = 1 AND COUNT(DISTINCT repository) > 1
), quoted AS (
    SELECT
        t.topic, t.repositories_for, t.repositories_against, t.example_for, t.example_against,
        MIN(CASE WHEN n.is_for = 1 AND n.example = t.example_for THEN n.quote END) AS quote_for,
        MIN(CASE WHEN n.is_for = 1 AND n.example = t.example_for THEN n.url END) AS url_for,
        MIN(CASE WHEN n.is_against = 1 AND n.example = t.example_against THEN n.quote END) AS quote_against,
        MIN(CASE WHEN n.is_against = 1 AND n.example = t.example_against THEN n.url END) AS url_against
    FROM topics AS t JOIN named AS n ON n.subject = t.subject
    GROUP BY t.subject, t.topic, t.repositories_for, t.repositories_against, t.example_for, t.example_against
)
SELECT DISTINCT
    topic, repositories_for, repositories_against, example_for, example_against, quote_for, url_for, quote_against, url_against
FROM quoted
ORDER BY repositories_for + repositories_against DESC, topic, example_against
