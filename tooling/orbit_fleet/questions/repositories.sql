-- title: Repositories
-- answers: Which repositories have decisions, how many, from which commit, and what do they inherit?
SELECT
    m.repository, COUNT(r.id) AS decisions, m.records AS records, MAX(r.date) AS newest, m.extends AS inherits,
    SUBSTR(m.committed_at, 1, 10) AS commit_of
FROM repositories AS m
LEFT JOIN records AS r ON r.repository = m.repository AND r.kind = 'adr'
WHERE NOT m.is_copy AND m.records > 0
GROUP BY m.repository, m.records, m.extends, m.committed_at
ORDER BY decisions DESC, m.repository
