package command

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe/device"
)

func newInfo() *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:   "info",
		Short: "Print the free and the total memory of a device, or of all",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return info(command.OutOrStdout(), name)
		},
	}
	command.Flags().StringVar(&name, "device", "", "the device, cuda:1 for example; all of them by default")
	return command
}

func info(w io.Writer, name string) error {
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if name == "" {
		devices, err := device.List()
		if err != nil {
			return err
		}
		for _, d := range devices {
			printMemory(lines, d.Name, d.Info, d.FreeMemory)
		}
		return lines.Flush()
	}
	dev, err := device.Open(name)
	if err != nil {
		return err
	}
	free, _, err := dev.MemoryInfo()
	if err := errors.Join(err, dev.Close()); err != nil {
		return err
	}
	printMemory(lines, dev.Name(), dev.Info(), free)
	return lines.Flush()
}

func printMemory(w io.Writer, name string, info device.Info, free uint64) {
	fmt.Fprintf(w, "%s\t%s\t%s free of %s\n", name, info.Name, humanize.IBytes(free), humanize.IBytes(info.TotalMemory))
}
