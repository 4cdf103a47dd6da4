// Every kind of device that this program can work with.
import type { Platform } from "../platform.ts";
import { vpcs } from "./vpcs.ts";

export const PLATFORMS: readonly Platform[] = [vpcs];
