package grader

func (c *compiler) cel(string) {}
