//! `CUDA_LAUNCH_BLOCKING` written to the environment after CUDA has read it.
