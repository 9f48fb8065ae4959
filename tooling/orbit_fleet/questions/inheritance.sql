-- title: What repositories inherit
-- answers: Which repository inherits the records of which other one, in which state, and how many does it override?
SELECT p.source AS source, p.repository AS repository, COUNT(l.target) AS overrides
FROM (
    SELECT r.repository, UNNEST(STRING_SPLIT_REGEX(r.extends, ', ')) AS source
    FROM repositories AS r
    WHERE r.extends <> ''
) AS p
LEFT JOIN links AS l
    ON l.repository = p.repository AND l.rel = 'overrides' AND l.target LIKE '%:%'
    AND STARTS_WITH(p.source, CONCAT(SPLIT_PART(l.target, ':', 1), ' '))
GROUP BY p.source, p.repository
ORDER BY source, repository
