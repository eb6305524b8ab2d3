package grader

import "github.com/podproof/podproof/labs"

func (c *compiler) labels(*labs.Labels)               {}
func (c *compiler) field(*labs.Field)                 {}
func (c *compiler) process(*labs.Process)             {}
func (c *compiler) resources(*labs.Resources)         {}
func (c *compiler) initOrder(*labs.InitOrder)         {}
func (c *compiler) nativeSidecar(*labs.NativeSidecar) {}
func (c *compiler) sidecar(*labs.Sidecar)             {}
func (c *compiler) sharedVolume(*labs.SharedVolume)   {}
func (c *compiler) jobSpec(*labs.JobSpec)             {}
func (c *compiler) cronJobSpec(*labs.CronJobSpec)     {}
func (c *compiler) ephemeral(*labs.Ephemeral)         {}
func (c *compiler) cel(string)                        {}
func (c *compiler) status(*labs.Status)               {}
func (c *compiler) events(*labs.Events)               {}
func (c *compiler) env(*labs.Env)                     {}
func (c *compiler) exec(*labs.Exec)                   {}
func (c *compiler) http(*labs.HTTP)                   {}
func (c *compiler) logs(*labs.Logs)                   {}
func (c *compiler) ambassador(*labs.Ambassador)       {}
func (c *compiler) adapter(*labs.Adapter)             {}
func (c *compiler) termination(*labs.Termination)     {}
func (c *compiler) trial(*labs.Trial)                 {}
