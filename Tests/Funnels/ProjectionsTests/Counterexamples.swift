/// The seeds with which a law does not hold, all of them.
func counterexamples(among seeds: Range<UInt64>, to law: (UInt64) -> Bool) -> [UInt64] {
    seeds.filter { !law($0) }
}
