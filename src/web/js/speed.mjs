// Measures evaluations of the network per second, with one position at a time: `node speed.mjs [SECONDS]`.
// Natively, `kosumi bench --model small.bin.gz --batch 1` measures the same positions.
import { Kosumi, supportsRelaxedSimd } from "kosumi";

const milliseconds = 1000 * Number(process.argv[2] ?? 2);
for (const isRelaxed of supportsRelaxedSimd() ? [false, true] : [false]) {
  const kosumi = await Kosumi.create({ isRelaxed });
  const kernels = isRelaxed ? ["relaxed-simd"] : ["portable", "simd128"];
  for (const kernel of kernels) {
    for (const precision of ["f32", "int8"]) {
      const speeds = [9, 13, 19].map((size) => kosumi.speed({ size, milliseconds, kernel, precision }));
      const numbers = speeds.map((it) => it.evaluationsPerSecond.toFixed(0).padStart(8));
      console.log(`${speeds[0].arithmetic.padEnd(20)} 9x9, 13x13, 19x19: ${numbers.join("")}`);
    }
  }
}
