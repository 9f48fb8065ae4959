-- title: Decisions of the organisation that are overridden
-- answers: Which decision of another repository does a record override, contradict, amend or supersede, and where?
SELECT
    l.target AS decision,
    CASE WHEN COUNT(DISTINCT o.repository) = 1 THEN MAX(o.title) END AS title,
    l.rel AS relation,
    l.repository AS overridden_in,
    r.id AS overridden_by,
    r.title AS overriding_title,
    r.status AS status,
    l.reason AS reason
FROM links AS l
JOIN records AS r ON r.repository = l.repository AND r.id = l.record_id
LEFT JOIN records AS o
    ON o.id = SPLIT_PART(l.target, ':', 2)
    AND (o.repository = SPLIT_PART(l.target, ':', 1) OR o.repository LIKE CONCAT('%/', SPLIT_PART(l.target, ':', 1)))
WHERE l.rel IN ('overrides', 'contradicts', 'amends', 'supersedes') AND l.target LIKE '%:%' AND l.target NOT LIKE '%://%'
GROUP BY l.target, l.rel, l.repository, r.id, r.title, r.status, l.reason
ORDER BY decision, overridden_in, overridden_by, title
