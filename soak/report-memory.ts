// The gateway process loads this file before the gateway. It reports the memory usage after a garbage collection, so that a leak
// becomes visible within minutes.
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  process.send?.({ heapUsed, heapTotal, external, rss });
});
process.channel?.unref();
// If the soak test is killed, its gateway exits too.
process.once('disconnect', () => process.exit(1));
