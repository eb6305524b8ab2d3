package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlplugin "k8s.io/kubectl/pkg/cmd/plugin"

	"github.com/podproof/podproof/internal/app"
)

func (p *program) kubectl() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl [ARGS...]",
		Short: "kubectl of the cluster's version, with the learner's kubeconfig unless KUBECONFIG is set",
		// Every flag is kubectl's own.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if os.Getenv("KUBECONFIG") == "" {
				// The flags alone: what client-go logs is for kubectl's own -v.
				c, err := p.flags.Load(os.Getenv)
				if err != nil {
					return fmt.Errorf("settings:\n%w", err)
				}
				if err := os.Setenv("KUBECONFIG", app.Kubeconfig(c)); err != nil {
					return fmt.Errorf("name the learner's kubeconfig: %w", err)
				}
			}
			if code := runKubectl(args, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()); code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}

// runKubectl runs kubectl with its arguments and returns its exit code; as
// kubectl does, it may end the process itself.
func runKubectl(args []string, in io.Reader, out, errOut io.Writer) int {
	cmd := kubectl.NewKubectlCommand(kubectl.KubectlOptions{
		PluginHandler: kubectl.NewDefaultPluginHandler(kubectlplugin.ValidPluginFilenamePrefixes),
		Arguments:     append([]string{"kubectl"}, args...),
		ConfigFlags: genericclioptions.NewConfigFlags(true).
			WithDeprecatedPasswordFlag().WithDiscoveryBurst(300).WithDiscoveryQPS(50),
		IOStreams: genericiooptions.IOStreams{In: in, Out: out, ErrOut: errOut},
	})
	cmd.SetArgs(args)
	return cli.Run(cmd)
}
