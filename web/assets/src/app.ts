// What the pages do in a browser beyond links and forms. Everything here only
// adds to pages that work without it.
import htmx from "htmx.org";
import { copyButtons } from "./copy";
import { grading } from "./grading";
import { live } from "./live";
import { menus } from "./menus";

// The Content-Security-Policy allows neither eval nor inline styles; htmx must
// not try them. Pages hold state of the cluster, so none is kept in a cache.
htmx.config.allowEval = false;
htmx.config.allowScriptTags = false;
htmx.config.includeIndicatorStyles = false;
htmx.config.historyCacheSize = 0;
htmx.config.refreshOnHistoryMiss = true;
// An error page that answers a fragment's request is shown in its place.
htmx.config.responseHandling = [
  { code: "204", swap: false },
  { code: ".*", swap: true },
];

copyButtons();
grading();
live();
menus();
