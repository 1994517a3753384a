/* Puts the pictures into the page of a report. */
(() => {
  document.querySelectorAll(".mount").forEach((mount) => {
    const step = specdist.data.steps[Number(mount.dataset.step)];
    const at = mount.dataset.position;
    mount.append(...specdist.partsOf(step, at === "all" ? null : Number(at), false));
  });
  const overview = document.getElementById("overview");
  if (overview) specdist.overview(overview);
  const steps = document.getElementById("steps");
  if (steps) specdist.stepList(steps);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
