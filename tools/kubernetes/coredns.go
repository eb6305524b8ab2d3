package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/coredns/caddy"
	_ "github.com/coredns/coredns/core/dnsserver"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/forward"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/loadbalance"
	_ "github.com/coredns/coredns/plugin/loop"
	_ "github.com/coredns/coredns/plugin/metrics" // kubeadm's Corefile says prometheus
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
)

// coredns serves cluster DNS from the Corefile that -conf names, with the few
// plugins that a cluster needs. The stock build links cloud back ends besides.
func coredns() int {
	flags := flag.NewFlagSet("coredns", flag.ContinueOnError)
	conf := flags.String("conf", "Corefile", "the `file` to read")
	if err := flags.Parse(os.Args[1:]); err != nil {
		return 2
	}
	text, err := os.ReadFile(*conf)
	if err != nil {
		fmt.Fprintln(os.Stderr, "coredns:", err)
		return 1
	}
	caddy.TrapSignals()
	instance, err := caddy.Start(caddy.CaddyfileInput{Contents: text, Filepath: *conf, ServerTypeName: "dns"})
	if err != nil {
		fmt.Fprintln(os.Stderr, "coredns:", err)
		return 1
	}
	instance.Wait()
	return 0
}
