// Package await waits in tests for an event that must happen, however slow or busy the
// machine is. It has one limit for all waits, which only ends a test that hangs.
package await
