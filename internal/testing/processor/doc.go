// Package processor measures the time of processors, which depends less on other programs of the
// machine than the time of the clock.
package processor
