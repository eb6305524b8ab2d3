package grader

import "github.com/podproof/podproof/labs"

func (c *compiler) process(*labs.Process)         {}
func (c *compiler) resources(*labs.Resources)     {}
func (c *compiler) ephemeral(*labs.Ephemeral)     {}
func (c *compiler) cel(string)                    {}
func (c *compiler) events(*labs.Events)           {}
func (c *compiler) env(*labs.Env)                 {}
func (c *compiler) termination(*labs.Termination) {}
