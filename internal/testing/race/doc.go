// Package race reports to tests whether the race detector is on, so that they choose smaller sizes.
package race
