// Every kind of device that this program can work with.
import type { Platform } from "../platform.ts";
import { ciscoIos } from "./cisco_ios.ts";
import { frr } from "./frr.ts";
import { huaweiVrp } from "./huawei_vrp.ts";
import { linux } from "./linux.ts";
import { ruijieRgos } from "./ruijie_rgos.ts";
import { vpcs } from "./vpcs.ts";

/** In the order in which the names of images and nodes are tried: an FRR appliance may be called "linux" too. */
export const PLATFORMS: readonly Platform[] = [vpcs, ciscoIos, huaweiVrp, ruijieRgos, frr, linux];
