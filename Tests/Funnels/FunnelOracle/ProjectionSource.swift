/// The sums of a projection's table over its shards, as a view would show them: for tables that no view shows as they
/// are.
struct ProjectionSource {
    let table: String
    var projector: String?
    /// Keys that are ids of words, and those that are numbers.
    let words: [String]
    let numbers: [String]
    /// A row of nothing but zeros is no row.
    let sums: [String]
    var hasInferred = false

    /// A subquery under this name.
    func sql(as name: String) -> String {
        let keys = ["app", "day"] + words + numbers
        let told =
            ["app.slug AS app", "f.day"]
            + words.map { "coalesce((SELECT value FROM log.word WHERE id = f.\($0)), '') AS \($0)" }
            + numbers.map { "f.\($0)" } + sums.map { "sum(f.\($0))::bigint AS \($0)" }
            + (hasInferred ? ["(sum(f.delivered) - sum(f.received))::bigint AS inferred"] : [])
        return """
            (SELECT \(told.joined(separator: ", ")) FROM projection.\(table) AS f JOIN log.app AS app ON app.id = f.app
            WHERE f.generation = 0 OR f.generation = (SELECT generation FROM projection.live
                WHERE name = '\(projector ?? table)')
            GROUP BY app.slug, \(keys.dropFirst().map { "f.\($0)" }.joined(separator: ", "))
            HAVING \(sums.map { "sum(f.\($0)) <> 0" }.joined(separator: " OR "))) AS \(name)
            """
    }
}
