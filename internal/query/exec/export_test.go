package exec

// Tests make plans without verbs.
func init() { useAll() }

func useAll() {
	for _, use := range []func(){UseJoins, UseAsOf, UseNearestTo, UseDistinct, UseExplode, UseDraw, UseTop, UseWindows} {
		use()
	}
}
