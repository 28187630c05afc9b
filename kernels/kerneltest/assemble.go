package kerneltest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

// AssemblerVariable is the environment variable that names NVIDIA's assembler, ptxas.
// If it is set, an emulated device assembles every text once when it is loaded and
// refuses a text that ptxas refuses.
const AssemblerVariable = "GPUFRAME_PTXAS"

// architectures are the targets of assembly: the oldest that gpuframe supports, unless
// ptxas is too new to know it, and a later one.
var architectures = []string{"sm_70", "sm_90"}

// assembled holds the result for each text.
var assembled sync.Map // of string to func() error

func assembleOnce(text string) error {
	path := os.Getenv(AssemblerVariable)
	if path == "" {
		return nil
	}
	once, _ := assembled.LoadOrStore(text, sync.OnceValue(func() error { return assemble(path, text) }))
	return once.(func() error)()
}

// Assemble assembles PTX and fails the test if ptxas refuses it. Without ptxas, in PATH
// or named by GPUFRAME_PTXAS, it does nothing.
func Assemble(t testing.TB, ptx string) {
	t.Helper()
	path := os.Getenv(AssemblerVariable)
	if path == "" {
		var err error
		if path, err = exec.LookPath("ptxas"); err != nil {
			return
		}
	}
	once, _ := assembled.LoadOrStore(ptx, sync.OnceValue(func() error { return assemble(path, ptx) }))
	require.NoError(t, once.(func() error)())
}

func assemble(path, text string) error {
	folder, err := os.MkdirTemp("", "emulator")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "kernel.ptx")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	known := false
	for _, architecture := range architectures {
		if strings.Contains(text, ".target sm_80") && architecture < "sm_80" {
			continue
		}
		output, err := exec.Command(path, "-arch="+architecture, "-o", os.DevNull, file).CombinedOutput()
		if err != nil && unknownArchitecture(output) {
			continue
		}
		if err != nil {
			return fmt.Errorf("kerneltest: ptxas -arch=%s: %w: %s: %w", architecture, err, strings.TrimSpace(string(output)), backend.ErrInvalidCode)
		}
		known = true
	}
	if !known {
		return fmt.Errorf("kerneltest: %s knows none of %v: install one that does: %w", path, architectures, backend.ErrNotSupported)
	}
	return nil
}

// unknownArchitecture reports whether ptxas does not know the value of its option
// gpu-name: "Value 'sm_70' is not defined for option 'gpu-name'".
func unknownArchitecture(output []byte) bool {
	return bytes.Contains(output, []byte("is not defined for option 'gpu-name'"))
}
