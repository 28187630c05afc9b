package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

// exposureLimit is the exposure of a unit, as `systemd-analyze security` counts it, above which it is a fault, in tenths.
// That of gpuframe-serve.service is 40 in systemd 252; each line of its sandbox is worth one to four.
const exposureLimit = "40"

var program = regexp.MustCompile(`(?m)^(ExecStart=)/\S+`)

// Unit checks a unit as `systemd-analyze verify` does, and how open it is as `systemd-analyze security` does. The program
// of the unit need not exist. Each warning is a fault: systemd ignores a name that it does not know, and starts the unit.
//
// # Errors
//
// It wraps [exec.ErrNotFound] without systemd-analyze.
func Unit(ctx context.Context, name string, text []byte) error {
	analyzer, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return fmt.Errorf("%s: %w: apt-get install systemd", name, err)
	}
	folder, err := os.MkdirTemp("", "unit-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	stub, file := filepath.Join(folder, "program"), filepath.Join(folder, name)
	if err := os.WriteFile(stub, []byte("#!/bin/sh\n"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(file, program.ReplaceAll(text, []byte("${1}"+stub)), 0o644); err != nil {
		return err
	}
	output, err := exec.CommandContext(ctx, analyzer, "verify", file).CombinedOutput()
	if output = bytes.TrimSpace(output); err != nil || len(output) > 0 {
		return fmt.Errorf("systemd-analyze verify: %w\n%s", errors.Join(err, errUnit), output)
	}
	output, err = exec.CommandContext(ctx, analyzer, "security", "--offline=true", "--no-pager", "--threshold="+exposureLimit, file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemd-analyze security: the exposure is above %s tenths: %w\n%s", exposureLimit, err, lastLine(output))
	}
	return nil
}

var errUnit = errors.New("the unit has faults")

func lastLine(text []byte) []byte {
	text = bytes.TrimSpace(text)
	return text[bytes.LastIndexByte(text, '\n')+1:]
}
